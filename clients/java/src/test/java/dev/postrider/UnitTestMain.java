package dev.postrider;

import dev.postrider.internal.JsonTest;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;

/** Runs the unit tests where there is no Maven: the methods whose names begin with "test". */
public final class UnitTestMain {
  private static final List<Class<?>> TESTS =
      List.of(
          JsonTest.class,
          CallTest.class,
          SendRequestTest.class,
          SendBatchRequestTest.class,
          RequestTest.class,
          WrittenMailTest.class,
          WebhookVerifierTest.class);

  private UnitTestMain() {}

  public static void main(String[] args) throws ReflectiveOperationException {
    int count = 0;
    int failed = 0;
    for (Class<?> tests : TESTS) {
      for (Method method : tests.getMethods()) {
        if (!method.getName().startsWith("test")) {
          continue;
        }
        count++;
        try {
          method.invoke(tests.getConstructor().newInstance());
        } catch (InvocationTargetException e) {
          failed++;
          System.err.println(tests.getSimpleName() + "." + method.getName());
          e.getCause().printStackTrace();
        }
      }
    }
    System.out.println(count + " tests, " + failed + " failed");
    System.exit(failed == 0 && count > 0 ? 0 : 1);
  }
}
