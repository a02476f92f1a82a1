package dev.postrider;

import static dev.postrider.Check.equal;
import static dev.postrider.Check.thrown;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** What no answer of a server can show: interrupts, and clients that must not be used. */
public final class CallTest {
  public void testAnInterruptEndsACallThatWaitsForItsAnswer() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread caller = Thread.currentThread();
      // A connection is there, and so the request is under way.
      CompletableFuture.runAsync(
          () -> {
            try {
              silent.accept();
            } catch (IOException e) {
              throw new IllegalStateException(e);
            }
            caller.interrupt();
          });
      Postrider client = client(silent.getLocalPort()).build();
      NetworkError e = thrown(NetworkError.class, () -> client.domains().list());
      equal(e.isTimeout(), false);
      equal(e.getMessage(), "The call was interrupted.");
      equal(Thread.interrupted(), true);
    }
  }

  public void testAnInterruptEndsAPause() throws IOException {
    Thread caller = Thread.currentThread();
    Thread interrupter =
        new Thread(
            () -> {
              while (!isPausing(caller)) {
                Thread.onSpinWait();
              }
              caller.interrupt();
            });
    interrupter.start();
    Postrider client = client(closedPort()).build();
    NetworkError e = thrown(NetworkError.class, () -> client.domains().list());
    equal(e.getMessage(), "The call was interrupted.");
    equal(Thread.interrupted(), true);
  }

  private static int closedPort() throws IOException {
    try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return closed.getLocalPort();
    }
  }

  private static boolean isPausing(Thread caller) {
    for (StackTraceElement frame : caller.getStackTrace()) {
      if (frame.getMethodName().equals("sleep") && frame.getClassName().equals(Caller.class.getName())) {
        return true;
      }
    }
    return false;
  }

  public void testAClientThatFollowsRedirectsIsRefused() {
    HttpClient follows = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
    PostriderException e = thrown(PostriderException.class, () -> client(1).httpClient(follows).build());
    equal(e.code(), "invalid_option");
  }

  public void testAnAttemptMayTake30Seconds() {
    equal(client(1).options().timeout, Duration.ofSeconds(30));
  }

  public void testATimeoutMayBeAsLongAsAnybodyLikes() {
    equal(client(1).timeout(Duration.ofSeconds(Long.MAX_VALUE)).build().toString(), "Postrider(http://127.0.0.1:1)");
  }

  public void testAWrongAddressIsNotShown() {
    PostriderException e =
        thrown(PostriderException.class, () -> client(1).baseUrl("http://user:hunter2@[bad").build());
    equal(e.code(), "invalid_option");
    equal(e.getCause(), null);
  }

  public void testErrorsAreNoErrorsOfTheLanguage() {
    equal(Error.class.isAssignableFrom(AuthError.class), false);
    equal(RuntimeException.class.isAssignableFrom(PostriderException.class), true);
  }

  private static Postrider.Builder client(int port) {
    return Postrider.builder().apiKey("pr_test").baseUrl("http://127.0.0.1:" + port);
  }
}
