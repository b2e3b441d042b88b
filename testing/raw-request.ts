import { once } from 'node:events';
import { request, type IncomingMessage, type RequestOptions } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** Unlike `fetch`, it does not normalise the URL or decode the body, and accepts an agent. */
export async function rawRequest(options: RequestOptions, text?: string) {
  const sent = request({ host: '127.0.0.1', ...options }).end(text);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const rawPayload = await buffer(response);
  const { statusCode, headers } = response;
  return { statusCode, headers, rawPayload, body: rawPayload.toString(), reusedSocket: sent.reusedSocket };
}
