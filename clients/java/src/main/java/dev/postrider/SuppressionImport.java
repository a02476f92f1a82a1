package dev.postrider;

import java.util.List;

/** What became of the addresses of an import. */
public final class SuppressionImport extends ApiObject {
  private final int added;
  private final int known;
  private final int refused;
  private final List<ImportRefusal> refusals;
  private final List<String> ignoredColumns;

  SuppressionImport(Fields fields) {
    super(fields);
    this.added = fields.smallNumber("added").orElse(0);
    this.known = fields.smallNumber("known").orElse(0);
    this.refused = fields.smallNumber("refused").orElse(0);
    this.refusals = fields.objects("refusals", ImportRefusal::new);
    this.ignoredColumns = fields.texts("ignored_columns");
  }

  /**
   * How many are new on the list.
   *
   * @return a count
   */
  public int added() {
    return added;
  }

  /**
   * How many were on it already, and keep their reason.
   *
   * @return a count
   */
  public int known() {
    return known;
  }

  /**
   * How many can't be used.
   *
   * @return a count
   */
  public int refused() {
    return refused;
  }

  /**
   * The first 100 that can't be used.
   *
   * @return in their order
   */
  public List<ImportRefusal> refusals() {
    return refusals;
  }

  /**
   * The columns of the CSV that are not understood, and were not imported.
   *
   * @return their names
   */
  public List<String> ignoredColumns() {
    return ignoredColumns;
  }
}
