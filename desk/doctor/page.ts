// Asks the running site for its health, because only that process notices a deleted database file or stuck mail. Checks
// PUBLIC_URL as a visitor reaches it: DNS, a trusted certificate, and plain http.
import { request as askHttp, type IncomingMessage } from 'node:http';
import { request as askHttps } from 'node:https';
import { isIP } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';

import { about, type Finding, type Findings } from '#desk/doctor/finding.ts';
import type { Dns } from '#server/platform/dns.ts';
import { errorCode } from '#server/platform/system-errors.ts';
import { askHealth } from '#server/startup/why-the-start-failed.ts';
import { isLoopback } from '#server/platform/ip-addresses.ts';
import { DAY_MS } from '#server/platform/time.ts';
import type { Config } from '#server/settings/settings.ts';
import { API } from '#shared/api.ts';

const page = about('page');
const { ok, note, warning, problem } = about('address');

const ANSWER_WITHIN_MS = 5_000;
const SOON_DAYS = 14;

export async function examinePage(
  { host, port }: Pick<Config, 'host' | 'port'>,
  signal: AbortSignal,
): Promise<Findings> {
  if (port === 0) return page.note('The page takes any free port (PORT=0), so that it was not asked.');
  const limit = AbortSignal.timeout(ANSWER_WITHIN_MS);
  try {
    const answer = await askHealth({ host, port }, AbortSignal.any([signal, limit]));
    if (answer === null) return page.problem(`Port ${port} is taken by another program.`);
    return [
      answer.isWell
        ? page.ok(`The page runs on port ${port}, and says that all is well.`)
        : page.problem(`The page runs on port ${port}, and says: ${answer.sentence}`),
    ];
  } catch {
    return [
      limit.aborted
        ? page.problem(
            `What listens on port ${port} did not answer within ${ANSWER_WITHIN_MS / 1000} seconds.`,
          )
        : page.note(`The page does not run on port ${port} of this machine.`),
    ];
  }
}

type Way = {
  readonly dns: Pick<Dns, 'addresses'>;
  readonly now: number;
  readonly signal: AbortSignal;
  readonly httpPort?: number;
  readonly ca?: string;
};

export async function examineAddress(
  { publicUrl, basePath, trustProxy }: Pick<Config, 'publicUrl' | 'basePath' | 'trustProxy'>,
  way: Way,
): Promise<Findings> {
  const url = new URL(publicUrl);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isLoopback(host))
    return note('PUBLIC_URL is an address of this machine, so it was not tested from outside.');
  const found =
    isIP(host) === 0 ? await way.dns.addresses(host) : { type: 'records' as const, records: [host] };
  if (found.type === 'failed')
    return warning(`DNS did not say where ${host} is (${found.reason}). Try again in a minute.`);
  const [address] = found.type === 'records' ? found.records : [];
  if (address === undefined)
    return problem(
      `${host} has no address in DNS, so no visitor finds the page. Publish an A record (and AAAA) with the address of this machine, or of the proxy in front of it.`,
    );
  const isSecure = url.protocol === 'https:';
  const judged = await judgePage(url, { ...way, address, publicUrl, basePath });
  if (judged.state === 'problem' || !isSecure) return [judged];
  return [
    judged,
    await judgePlain(url, { ...way, address }),
    ...(trustProxy === false
      ? [
          warning(
            'PUBLIC_URL is https, so a proxy is in front of the page, and TRUST_PROXY is not set: all visitors count as one network. Set TRUST_PROXY=1, or the proxy’s network.',
          ),
        ]
      : []),
  ];
}

async function judgePage(
  url: URL,
  {
    address,
    publicUrl,
    basePath,
    now,
    ...way
  }: Way & { address: string } & Pick<Config, 'publicUrl' | 'basePath'>,
): Promise<Finding> {
  const { hostname: host } = url;
  let response: IncomingMessage;
  let body: string;
  try {
    response = await ask(new URL(`${basePath}${API.live}`, url), { ...way, address });
    body = await text(response);
  } catch (error) {
    return problem(explain(error, publicUrl, host));
  }
  if (response.statusCode !== 200 || !body.includes('"status":"ok"'))
    return problem(
      `${publicUrl} is answered with ${response.statusCode ?? 0}, and not by this page. Have the proxy pass it on to this page’s port, path included.`,
    );
  if (url.protocol === 'http:') return ok(`The page answers at ${publicUrl}.`);
  const { valid_to: end } = (response.socket as TLSSocket).getPeerCertificate();
  const days = Math.floor((Date.parse(end) - now) / DAY_MS);
  return days < SOON_DAYS
    ? warning(
        `The certificate of ${host} ends in ${days} days, and was not renewed yet: after that, browsers refuse the page. See why the proxy does not renew it.`,
      )
    : ok(`The page answers at ${publicUrl}, and its certificate is good for ${days} more days.`);
}

async function judgePlain(
  { hostname: host }: URL,
  { httpPort = 80, ...way }: Way & { address: string },
): Promise<Finding> {
  const plain = `http://${host}`;
  try {
    const response = await ask(new URL(`${plain}:${httpPort}/`), way);
    response.resume();
    const { statusCode = 0, headers } = response;
    const isLed = statusCode >= 300 && statusCode < 400 && headers.location?.startsWith('https://') === true;
    return isLed
      ? ok(`${plain} leads to https.`)
      : warning(
          `${plain} answers without leading to https: who comes that way types without encryption. Have the proxy redirect it (308).`,
        );
  } catch {
    return note(`Nothing answers at ${plain}: who types the name without https may not find the page.`);
  }
}

function ask(
  url: URL,
  { address, signal, ca }: Pick<Way, 'signal' | 'ca'> & { readonly address: string },
): Promise<IncomingMessage> {
  const isSecure = url.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const request = (isSecure ? askHttps : askHttp)({
      host: address,
      port: url.port,
      path: url.pathname,
      // Another Host header or TLS name would reach another site.
      headers: { host: url.host },
      agent: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
      ...(isSecure && { servername: url.hostname, ...(ca !== undefined && { ca }) }),
    });
    request.once('response', resolve).once('error', reject).end();
  });
}

function explain(error: unknown, publicUrl: string, host: string): string {
  const code = errorCode(error) ?? 'no answer';
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return `The certificate of ${host} has expired: browsers refuse the page. Renew it.`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `The certificate that ${host} shows is for ${namesIn(error)}: browsers refuse the page. Get one for ${host}.`;
    case 'ABORT_ERR':
      return `${publicUrl} did not answer this machine within ${ANSWER_WITHIN_MS / 1000} seconds. Start the proxy, and open its port in the firewall; if a phone opens the page, your router only keeps this machine from its own address.`;
    default:
      return /^E[A-Z]+$/.test(code)
        ? `Nothing answers at ${publicUrl} (${code}). Start the proxy, and open its port in the firewall.`
        : `Browsers do not trust the certificate that ${host} shows (${code}). Get one from an authority such as Let’s Encrypt, and have the proxy send its whole chain.`;
  }
}

function namesIn(error: unknown): string {
  const { cert } = error as { cert?: { subjectaltname?: string } };
  return cert?.subjectaltname?.replaceAll('DNS:', '') ?? 'another name';
}
