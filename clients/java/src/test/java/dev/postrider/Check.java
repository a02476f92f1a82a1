package dev.postrider;

import java.util.Objects;

/** What the tests claim. */
public final class Check {
  private Check() {}

  /** Something that should throw. */
  @FunctionalInterface
  public interface Action {
    void run() throws Exception;
  }

  public static void equal(Object given, Object expected) {
    if (!Objects.equals(given, expected)) {
      throw new AssertionError("is " + given + " in place of " + expected);
    }
  }

  public static <E extends Exception> E thrown(Class<E> type, Action action) {
    try {
      action.run();
    } catch (Exception e) {
      if (type.isInstance(e)) {
        return type.cast(e);
      }
      throw new AssertionError("threw something else", e);
    }
    throw new AssertionError("did not throw a " + type.getSimpleName());
  }
}
