package dev.postrider;

import java.util.Optional;

/** An address of an import that can't be used. */
public final class ImportRefusal extends ApiObject {
  private final Integer index;
  private final Integer line;
  private final String message;

  ImportRefusal(Fields fields) {
    super(fields);
    this.index = fields.smallNumber("index").orElse(null);
    this.line = fields.smallNumber("line").orElse(null);
    this.message = fields.text("message");
  }

  /**
   * Its place in the list, from 0.
   *
   * @return empty for CSV
   */
  public Optional<Integer> index() {
    return Optional.ofNullable(index);
  }

  /**
   * Its line of the CSV, from 1.
   *
   * @return empty for a list
   */
  public Optional<Integer> line() {
    return Optional.ofNullable(line);
  }

  /**
   * What is wrong with it.
   *
   * @return a sentence
   */
  public String message() {
    return message;
  }
}
