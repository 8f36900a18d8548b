// A batch of version 1, kept as it was written.

/** What was written as version 1 of a $pageview of anna and of an anonymous event whose name holds a separator. */
const recorded =
  'UgAAAN4ABqd2ZXJzaW9uAalwcm9qZWN0SWQBrHJlY2VpdmVkQXRNc8tCePNAaeAAAKhzZW50QXRNc8tCePNAaeAAAKpoaXN0b3Jp' +
  'Y2FswqVjb3VudAIAAAAAAAAAAHAAgAAAAAAAAAEAAAAAAABwAIAAAAAAAAACKR77AwduX7qPuS6W/7eWF23fZWhJgFmiiUio5z94' +
  '+LkApBbZjF0YQwCtU9mMXRhDARMAAAAAAAAJAAAADQAAAAQAAAAKAAAAnAAAAPgAAAA9AAAAPgAAAAAAAAACAAAAJHBhZ2V2aWV3' +
  'HmIeYx5hbm5hHsO8c2VyHnsiZGlzdGluY3RfaWQiOiJhbm5hIiwiJGJyb3dzZXIiOiJDaHJvbWUiLCJuIjoxMjM0NTY3ODkwMSwi' +
  'dXRtX3NvdXJjZSI6IngiLCIkc2V0Ijp7InBsYW4iOiJmcmVlIn0sIiRpcCI6IjIwMy4wLjExMy43IiwiJHNlbnRfYXQiOiIyMDI0' +
  'LTA1LTAxVDEyOjAwOjAwLjAwMFoifR57IiRwcm9jZXNzX3BlcnNvbl9wcm9maWxlIjpmYWxzZSwiJGlwIjoiMjAzLjAuMTEzLjci' +
  'LCIkc2VudF9hdCI6IjIwMjQtMDUtMDFUMTI6MDA6MDAuMDAwWiJ9HnsiJHNldCI6eyJwbGFuIjoiZnJlZSJ9LCIkYnJvd3NlciI6' +
  'IkNocm9tZSIsInV0bV9zb3VyY2UiOiJ4In0eHh5hHg=='

export function recordedBatch(): Uint8Array {
  return new Uint8Array(Buffer.from(recorded, 'base64'))
}
