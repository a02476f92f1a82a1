package dev.postrider;

import java.util.List;

/** Manages stored contents; see {@link Postrider#templates()}. */
public final class Templates {
  private static final String PATH = "/templates";

  private final Caller caller;

  Templates(Caller caller) {
    this.caller = caller;
  }

  /**
   * Stores a template.
   *
   * @param request all of it
   * @return the template
   * @throws PostriderException when it was refused
   */
  public Template create(TemplateRequest request) {
    return new Template(caller.call(Call.of("POST", PATH, request.body())));
  }

  /**
   * Replaces all of a template; messages that were accepted do not change.
   *
   * @param id of the template
   * @param request all of it; a part that it does not have is gone
   * @return the template
   * @throws PostriderException when it was refused
   */
  public Template update(String id, TemplateRequest request) {
    return new Template(caller.call(Call.of("PUT", Call.path(PATH, id), request.body())));
  }

  /**
   * Shows all templates.
   *
   * @return oldest first
   * @throws PostriderException when the call failed
   */
  public List<Template> list() {
    return caller.call(Call.of("GET", PATH)).objects("templates", Template::new);
  }

  /**
   * Shows one template.
   *
   * @param id of the template
   * @return the template
   * @throws PostriderException when there is none
   */
  public Template get(String id) {
    return new Template(caller.call(Call.of("GET", Call.path(PATH, id))));
  }

  /**
   * Removes a template.
   *
   * @param id of the template
   * @throws PostriderException when there is none
   */
  public void delete(String id) {
    caller.callForNothing(Call.of("DELETE", Call.path(PATH, id)));
  }
}
