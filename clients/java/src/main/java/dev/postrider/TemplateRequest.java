package dev.postrider;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** The whole of a template. */
public final class TemplateRequest {
  private final Map<String, Object> body;

  private TemplateRequest(Map<String, Object> body) {
    this.body = Collections.unmodifiableMap(new LinkedHashMap<>(body));
  }

  /**
   * The way to a template.
   *
   * @return an empty builder
   */
  public static Builder builder() {
    return new Builder();
  }

  Map<String, Object> body() {
    return body;
  }

  /** The name alone: the parts may be long. */
  @Override
  public String toString() {
    return "TemplateRequest(" + body.get("name") + ")";
  }

  /** Makes templates. */
  public static final class Builder {
    private final Map<String, Object> body = new LinkedHashMap<>();

    private Builder() {}

    /**
     * Its name, for people.
     *
     * @param name 1 to 200 characters
     * @return this
     */
    public Builder name(String name) {
      body.put("name", name);
      return this;
    }

    /**
     * The HTML part; at least one of the two parts is needed.
     *
     * @param html Liquid
     * @return this
     */
    public Builder html(String html) {
      body.put("html", html);
      return this;
    }

    /**
     * The text part; at least one of the two parts is needed.
     *
     * @param text Liquid
     * @return this
     */
    public Builder text(String text) {
      body.put("text", text);
      return this;
    }

    /**
     * The subject of messages that have none of their own.
     *
     * @param subject Liquid
     * @return this
     */
    public Builder subject(String subject) {
      body.put("subject", subject);
      return this;
    }

    /**
     * Makes the template.
     *
     * @return one that cannot be changed
     */
    public TemplateRequest build() {
      return new TemplateRequest(body);
    }
  }
}
