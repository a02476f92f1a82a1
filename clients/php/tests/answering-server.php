<?php

declare(strict_types=1);

/*
 * A server on loopback that answers every request with a status that tells which connection it came over:
 * {"status": "connection 1, request 2"}. It prints its port; it ends with its standard input.
 */

$listener = stream_socket_server('tcp://127.0.0.1:0') ?: exit(1);
echo substr(strrchr(stream_socket_get_name($listener, false), ':'), 1), "\n";

$connections = 0;
$open = [];
while (true) {
    $ready = [STDIN, $listener, ...array_column($open, 'socket')];
    $none = null;
    stream_select($ready, $none, $none, null);
    if (in_array(STDIN, $ready, true)) {
        exit(0);
    }
    if (in_array($listener, $ready, true)) {
        $socket = stream_socket_accept($listener);
        $open[(int) $socket] = ['socket' => $socket, 'number' => ++$connections, 'requests' => 0];
    }
    foreach ($open as $key => $connection) {
        if (!in_array($connection['socket'], $ready, true)) {
            continue;
        }
        $length = 0;
        while (($line = fgets($connection['socket'])) !== false && trim($line) !== '') {
            $length = str_starts_with(strtolower($line), 'content-length:') ? (int) substr($line, 15) : $length;
        }
        if ($line === false) {
            unset($open[$key]);
            continue;
        }
        $sent = $length > 0 ? stream_get_contents($connection['socket'], $length) : '';
        $place = "connection {$connection['number']}, request " . ++$open[$key]['requests'];
        $answer = ['status' => $place, 'id' => $sent, 'results' => [['id' => $sent]]];
        $body = json_encode($answer, JSON_THROW_ON_ERROR);
        $head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " . strlen($body);
        fwrite($connection['socket'], "{$head}\r\n\r\n{$body}");
    }
}
