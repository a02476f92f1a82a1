package dev.postrider;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/**
 * Collects the body of an answer, up to a limit. Other than the JDK's own, it can be cancelled from
 * outside, which closes the connection of an answer that does not end.
 */
final class BodyCollector implements BodySubscriber<byte[]> {
  /** The largest answers (a page of 1,000 events, all templates) stay well below. */
  private static final int MAX_BYTES = 64 << 20;

  private final CompletableFuture<byte[]> whole = new CompletableFuture<>();
  private final ByteArrayOutputStream collected = new ByteArrayOutputStream();
  private Flow.Subscription subscription;
  private boolean isCancelled;

  @Override
  public CompletionStage<byte[]> getBody() {
    return whole;
  }

  @Override
  public synchronized void onSubscribe(Flow.Subscription subscription) {
    this.subscription = subscription;
    if (isCancelled) {
      subscription.cancel();
    } else {
      subscription.request(Long.MAX_VALUE);
    }
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    for (ByteBuffer buffer : buffers) {
      byte[] bytes = new byte[buffer.remaining()];
      buffer.get(bytes);
      collected.write(bytes, 0, bytes.length);
    }
    if (collected.size() > MAX_BYTES) {
      cancel();
      whole.completeExceptionally(new IOException("the answer is larger than any of the service"));
    }
  }

  @Override
  public void onError(Throwable error) {
    whole.completeExceptionally(error);
  }

  @Override
  public void onComplete() {
    whole.complete(collected.toByteArray());
  }

  /** Does nothing once the body is complete. */
  synchronized void cancel() {
    isCancelled = true;
    if (subscription != null) {
      subscription.cancel();
    }
  }
}
