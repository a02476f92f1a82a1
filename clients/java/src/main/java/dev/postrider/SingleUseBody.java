package dev.postrider;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Flow;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The empty body of a GET, which lets its request be written once. When a connection closes without
 * an answer, Java's client repeats a GET by itself and at once, beyond all counting, and nothing
 * but a property of the whole process could stop that (seen in Java 11 to 25). It asks a body for
 * its length each time that it writes a request: the second time from the same place, this refuses.
 */
final class SingleUseBody implements BodyPublisher {
  /** Whoever asks, and by whom that was called: a version of Java may ask from two places. */
  private static final int FRAMES = 2;

  private final BodyPublisher empty = BodyPublishers.noBody();
  private final Set<List<String>> askedFrom = new HashSet<>();

  @Override
  public synchronized long contentLength() {
    List<String> place = StackWalker.getInstance().walk(SingleUseBody::callers);
    if (!askedFrom.add(place)) {
      throw new UncheckedIOException(new IOException("the connection closed"));
    }
    return empty.contentLength();
  }

  @Override
  public void subscribe(Flow.Subscriber<? super ByteBuffer> subscriber) {
    empty.subscribe(subscriber);
  }

  private static List<String> callers(Stream<StackWalker.StackFrame> frames) {
    return frames.skip(1).limit(FRAMES).map(SingleUseBody::name).collect(Collectors.toList());
  }

  private static String name(StackWalker.StackFrame frame) {
    return frame.getClassName() + "." + frame.getMethodName() + "@" + frame.getByteCodeIndex();
  }
}
