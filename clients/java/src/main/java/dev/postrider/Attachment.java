package dev.postrider;

import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

/** A file to send along. */
public final class Attachment {
  private final Map<String, Object> fields;

  private Attachment(Map<String, Object> fields) {
    this.fields = fields;
  }

  /**
   * The way to an attachment.
   *
   * @return an empty builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** By their names in the API. */
  Map<String, Object> fields() {
    return fields;
  }

  /** Its name; the content is long, and may be secret. */
  @Override
  public String toString() {
    return "Attachment(" + fields.get("filename") + ")";
  }

  /** Makes attachments. */
  public static final class Builder {
    private final Map<String, Object> fields = new LinkedHashMap<>();

    private Builder() {}

    /**
     * The name of the file.
     *
     * @param filename without a path
     * @return this
     */
    public Builder filename(String filename) {
      fields.put("filename", filename);
      return this;
    }

    /**
     * The file.
     *
     * @param content byte for byte; later changes of the array do not reach the attachment
     * @return this
     */
    public Builder content(byte[] content) {
      return contentBase64(Base64.getEncoder().encodeToString(content));
    }

    /**
     * The file, for those who have it in base64 already.
     *
     * @param content base64; it is sent as it is
     * @return this
     */
    public Builder contentBase64(String content) {
      fields.put("content", content);
      return this;
    }

    /**
     * The type; without one it is derived from the name.
     *
     * @param contentType for example {@code application/pdf}
     * @return this
     */
    public Builder contentType(String contentType) {
      fields.put("content_type", contentType);
      return this;
    }

    /**
     * Makes it an image in the HTML.
     *
     * @param contentId what follows {@code cid:} in the HTML
     * @return this
     */
    public Builder contentId(String contentId) {
      fields.put("content_id", contentId);
      return this;
    }

    /**
     * Makes the attachment.
     *
     * @return one that cannot be changed
     */
    public Attachment build() {
      return new Attachment(new LinkedHashMap<>(fields));
    }
  }
}
