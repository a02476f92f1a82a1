package dev.postrider;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Makes calls: writes requests, repeats them, and reads answers. */
final class Caller {
  private final Options options;
  private final HttpClient client;

  Caller(Options options, HttpClient client) {
    this.options = options;
    this.client = client;
  }

  String baseUrl() {
    return options.baseUrl;
  }

  /** Makes a call whose answer is an object. */
  Fields call(Call call) {
    return perform(call).fields();
  }

  /** Makes a call whose answer is empty. */
  void callForNothing(Call call) {
    perform(call);
  }

  private Answer perform(Call call) {
    for (int retry = 0; ; retry++) {
      PostriderException failure;
      Optional<Duration> pause;
      try {
        Answer answer = attempt(call);
        if (answer.isSuccess() || (call.isHealth() && answer.isUnhealthy())) {
          return answer;
        }
        failure = answer.refusal();
        pause = RetryPolicy.pauseAfter(answer, retry, ThreadLocalRandom.current().nextDouble());
      } catch (NetworkError e) {
        failure = e;
        pause = Optional.of(RetryPolicy.backoff(retry, ThreadLocalRandom.current().nextDouble()));
      }
      boolean isLast = retry == options.maxRetries || !call.mayBeRepeatedAfter(failure);
      if (isLast || pause.isEmpty() || Thread.currentThread().isInterrupted()) {
        throw failure;
      }
      sleep(pause.get());
    }
  }

  private static void sleep(Duration pause) {
    try {
      TimeUnit.NANOSECONDS.sleep(pause.toNanos());
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /** Sends the request once and reads the whole answer, within the timeout. */
  private Answer attempt(Call call) {
    BodyCollector body = new BodyCollector();
    CompletableFuture<HttpResponse<byte[]>> response = client.sendAsync(request(call), info -> body);
    try {
      HttpResponse<byte[]> arrived = response.get(options.timeout.toMillis(), TimeUnit.MILLISECONDS);
      return new Answer(arrived.statusCode(), arrived.headers(), arrived.body());
    } catch (TimeoutException e) {
      throw timeout(e);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof HttpTimeoutException ? timeout(e.getCause()) : broken(e.getCause());
    } catch (InterruptedException e) {
      throw interrupted(e);
    } finally {
      // Neither does anything once the answer is complete.
      body.cancel();
      response.cancel(true);
    }
  }

  private HttpRequest request(Call call) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(options.baseUrl + call.path))
            // With version 2, plain HTTP gets an Upgrade that not every server takes well.
            .version(HttpClient.Version.HTTP_1_1)
            // Java 11 cannot cancel from outside what waits for the head of an answer.
            .timeout(options.timeout)
            .setHeader("Accept", "application/json")
            .setHeader("User-Agent", "postrider-java/" + Postrider.VERSION);
    if (call.body != null) {
      request.setHeader("Content-Type", "application/json");
    }
    if (call.idempotencyKey != null) {
      request.setHeader("Idempotency-Key", call.idempotencyKey);
    }
    if (!call.isHealth()) {
      request.setHeader("Authorization", "Bearer " + options.apiKey);
    }
    return request.method(call.method, body(call)).build();
  }

  private static BodyPublisher body(Call call) {
    if (call.method.equals("GET")) {
      return new SingleUseBody();
    }
    return call.body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(call.body);
  }

  private NetworkError timeout(Throwable cause) {
    String message = "There was no answer within " + options.timeout.toMillis() + " ms.";
    return new NetworkError(Failure.of("timeout", message, cause), true);
  }

  private static NetworkError broken(Throwable failure) {
    Throwable cause = failure instanceof UncheckedIOException ? failure.getCause() : failure;
    String what = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    if (!(cause instanceof IOException)) {
      what = cause.getClass().getSimpleName() + ": " + what;
    }
    return new NetworkError(Failure.of("network_error", "There was no answer: " + what, cause), false);
  }

  private static NetworkError interrupted(InterruptedException cause) {
    Thread.currentThread().interrupt();
    return new NetworkError(Failure.of("network_error", "The call was interrupted.", cause), false);
  }
}
