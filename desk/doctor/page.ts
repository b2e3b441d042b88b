// Requests the running site's health, because only its process notices a deleted database file or stuck mail. Checks
// PUBLIC_URL as visitors use it: DNS, a trusted certificate, and plain http.
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';

import { about, type Findings } from '#desk/doctor/finding.ts';
import type { Finding } from '#desk/endpoints/figures.ts';
import type { Dns } from '#server/platform/dns.ts';
import { errorCode } from '#server/platform/system-errors.ts';
import { askHealth } from '#server/startup/why-the-start-failed.ts';
import { bareHost, isLoopback } from '#server/platform/ip-addresses.ts';
import { DAY_MS } from '#server/platform/time.ts';
import type { Config } from '#server/settings/settings.ts';
import { API } from '#shared/api.ts';

const page = about('page');
const { ok, note, warning, problem } = about('address');

const RESPONSE_TIMEOUT_MS = 5_000;
const RENEWAL_DAYS = 14;

export async function examinePage(
  { host, port }: Pick<Config, 'host' | 'port'>,
  signal: AbortSignal,
): Promise<Findings> {
  if (port === 0) return page.note('The site was not checked because it uses any free port (PORT=0).');
  const limit = AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
  try {
    const health = await askHealth({ host, port }, AbortSignal.any([signal, limit]));
    if (health === null)
      return page.problem(
        `Port ${port} is used by another program. Stop that program, or set PORT to another number.`,
      );
    return health.isHealthy
      ? page.ok(`The site is running on port ${port} and is healthy.`)
      : page.problem(`The site is running on port ${port} and reports: ${health.sentence}`);
  } catch {
    return limit.aborted
      ? page.problem(
          `The program on port ${port} did not respond within ${RESPONSE_TIMEOUT_MS / 1000} seconds. If it is this site, restart it.`,
        )
      : page.note(`Nothing is listening on port ${port}. Start the site with npm start.`);
  }
}

type Options = {
  readonly dns: Pick<Dns, 'addresses'>;
  readonly now: number;
  readonly signal: AbortSignal;
  readonly httpPort?: number;
  readonly ca?: string;
};

const hostIn = (url: string): string => bareHost(new URL(url).hostname);

export async function examinePublicUrl(
  { publicUrl, basePath, trustProxy, mail }: Pick<Config, 'publicUrl' | 'basePath' | 'trustProxy' | 'mail'>,
  options: Options,
): Promise<Findings> {
  const url = new URL(publicUrl);
  const host = hostIn(publicUrl);
  if (isLoopback(host) && mail.kind === 'smtp' && !isLoopback(hostIn(mail.url)))
    return problem(
      `Links in e-mails lead to ${publicUrl}, which visitors cannot open. Set PUBLIC_URL to the address of the site, such as https://guide.example.com.`,
    );
  if (isLoopback(host)) return note('PUBLIC_URL points to this machine, so it was not tested from outside.');
  const found = await options.dns.addresses(host);
  if (found.type === 'failed')
    return warning(`DNS could not resolve ${host} (${found.reason}). Try again in a minute.`);
  const [address] = found.type === 'records' ? found.records : [];
  if (address === undefined)
    return problem(
      `${host} does not resolve to an IP address, so visitors cannot reach the page. Publish an A record (and an AAAA record for IPv6) with the IP address of this machine or of the proxy in front of it.`,
    );
  const send: Send = (to) => sendRequest(to, { ...options, address });
  const pageFinding = await judgePage(url, { publicUrl, basePath }, { send, now: options.now });
  if (pageFinding.state === 'problem' || url.protocol !== 'https:') return [pageFinding];
  const findings = [pageFinding, await judgeRedirect(host, options.httpPort ?? 80, send)];
  if (trustProxy === false)
    findings.push(
      warning(
        'PUBLIC_URL uses https, so there is a proxy in front of the site, but TRUST_PROXY is not set. All visitors are counted as one network. Set TRUST_PROXY to 1 or to the proxy’s network.',
      ),
    );
  return findings;
}

type Send = (url: URL) => Promise<IncomingMessage>;

async function judgePage(
  url: URL,
  { publicUrl, basePath }: Pick<Config, 'publicUrl' | 'basePath'>,
  { send, now }: { send: Send; now: number },
): Promise<Finding> {
  const { hostname: host } = url;
  let response: IncomingMessage;
  let body: string;
  try {
    response = await send(new URL(`${basePath}${API.live}`, url));
    body = await text(response);
  } catch (error) {
    return problem(explain(error, publicUrl, host));
  }
  if (response.statusCode !== 200 || !body.includes('"status":"ok"'))
    return problem(
      `The response from ${publicUrl} (status ${response.statusCode ?? 0}) is not from this site. Make the proxy forward requests, including their path, to this site’s port.`,
    );
  if (url.protocol === 'http:') return ok(`The page is reachable at ${publicUrl}.`);
  const { valid_to: end } = (response.socket as TLSSocket).getPeerCertificate();
  const days = Math.floor((Date.parse(end) - now) / DAY_MS);
  return days < RENEWAL_DAYS
    ? warning(
        `The certificate of ${host} expires in ${days} days and has not been renewed. After that, browsers will refuse the page. Find out why the proxy does not renew the certificate.`,
      )
    : ok(`The page is reachable at ${publicUrl}, and its certificate is valid for ${days} more days.`);
}

async function judgeRedirect(host: string, port: number, send: Send): Promise<Finding> {
  const httpUrl = `http://${host}`;
  try {
    const { statusCode = 0, headers } = (await send(new URL(`${httpUrl}:${port}/`))).resume();
    const isRedirect =
      statusCode >= 300 && statusCode < 400 && headers.location?.startsWith('https://') === true;
    return isRedirect
      ? ok(`${httpUrl} redirects to https.`)
      : warning(
          `${httpUrl} does not redirect to https, so what visitors type there is not encrypted. Make the proxy redirect to https (status 308).`,
        );
  } catch {
    return note(
      `Nothing responds at ${httpUrl}, so visitors who type the name without https may not find the page.`,
    );
  }
}

function sendRequest(
  url: URL,
  { address, signal, ca }: Options & { readonly address: string },
): Promise<IncomingMessage> {
  const isSecure = url.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const request = (isSecure ? requestHttps : requestHttp)({
      host: address,
      port: url.port,
      path: url.pathname,
      // Another Host header or TLS name would reach another site.
      headers: { host: url.host },
      agent: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(RESPONSE_TIMEOUT_MS)]),
      ...(isSecure && { servername: url.hostname, ...(ca !== undefined && { ca }) }),
    });
    request.once('response', resolve).once('error', reject).end();
  });
}

function explain(error: unknown, publicUrl: string, host: string): string {
  const code = errorCode(error) ?? 'no response';
  if (code === 'CERT_HAS_EXPIRED')
    return `The certificate of ${host} has expired, so browsers refuse the page. Renew the certificate.`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const { cert } = error as { cert?: { subjectaltname?: string } };
    const names = cert?.subjectaltname?.replaceAll('DNS:', '') ?? 'another host';
    return `The certificate of ${host} was issued for ${names}, so browsers refuse the page. Get a certificate for ${host}.`;
  }
  if (code === 'ABORT_ERR')
    return `${publicUrl} did not respond to this machine within ${RESPONSE_TIMEOUT_MS / 1000} seconds. Start the proxy, and open its port in the firewall. If the page opens on a phone, your router only blocks this machine from its own public IP address.`;
  if (code === 'EPROTO')
    return `${publicUrl} responds without TLS, or has no certificate for ${host}. Get one, make the proxy serve https, or correct the port in PUBLIC_URL.`;
  return /^(?:E[A-Z]+|HPE_\w+)$/.test(code)
    ? `No web server responds at ${publicUrl} (${code}). Start the proxy, and open its port in the firewall.`
    : `Browsers do not trust the certificate of ${host} (${code}). Get one from an authority such as Let’s Encrypt, and make the proxy send the whole certificate chain.`;
}
