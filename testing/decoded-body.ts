import type { OutgoingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

export function decodedBody({
  rawPayload,
  headers,
}: {
  readonly rawPayload: Buffer;
  readonly headers: OutgoingHttpHeaders;
}): Buffer {
  if (headers['content-encoding'] === 'br') return brotliDecompressSync(rawPayload);
  return headers['content-encoding'] === 'gzip' ? gunzipSync(rawPayload) : rawPayload;
}
