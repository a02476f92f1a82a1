// A key and a self-signed certificate for `mx.peer.test`, valid from 2020 to 2120.
// TEST ONLY: the key is public, it protects nothing. Made with `openssl ca -selfsign`.

export const TEST_ONLY_HOST = 'mx.peer.test';

export const TEST_ONLY_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg4DzI9HCpiaIFmDhr
he+hhclizmo+9Pn6nIdIwbcgL9ehRANCAAQc8/sGHE6oBic0th0NulGJchjXna8/
LPYEjxHedr0jMOOBvjxrf39V5H8iBmpUDALl2p+dgOB6yl5YjuY+s3NG
-----END PRIVATE KEY-----
`;

export const TEST_ONLY_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBsDCCAVagAwIBAgIBATAKBggqhkjOPQQDAjA6MRUwEwYDVQQDDAxteC5wZWVy
LnRlc3QxITAfBgNVBAoMGFRlc3Qgb25seSwgd29ydGggbm90aGluZzAgFw0yMDAx
MDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowOjEVMBMGA1UEAwwMbXgucGVlci50
ZXN0MSEwHwYDVQQKDBhUZXN0IG9ubHksIHdvcnRoIG5vdGhpbmcwWTATBgcqhkjO
PQIBBggqhkjOPQMBBwNCAAQc8/sGHE6oBic0th0NulGJchjXna8/LPYEjxHedr0j
MOOBvjxrf39V5H8iBmpUDALl2p+dgOB6yl5YjuY+s3NGo0swSTAPBgNVHRMBAf8E
BTADAQH/MBcGA1UdEQQQMA6CDG14LnBlZXIudGVzdDAdBgNVHQ4EFgQUm7PzOUJ8
YQqFDgNmVQvIHYSFZkUwCgYIKoZIzj0EAwIDSAAwRQIgdu0OHLqMtTwqHf4+iWX4
JjkITCCZDRUcrgDRfp7LeeECIQDkor+vrkuHhpQByrSz/B9cd1uFdLnBxMiO6AEI
lXNJlA==
-----END CERTIFICATE-----
`;
