// Fails when a dependency that users run has a known vulnerability of severity high or critical. Where the registry cannot
// be asked (no network, a mirror without this service), it says so and passes: the code is no worse for it. It runs last of
// all checks, so that this is the last thing they say.
import { spawnSync } from 'node:child_process';

const TIMEOUT_MS = 20_000;

type Audit = {
  /** What npm says instead of an audit. */
  readonly message?: string;
  readonly metadata?: { readonly vulnerabilities: Readonly<Record<string, number>> };
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly severity: string; readonly range: string; readonly fixAvailable: unknown }>
  >;
};

const { stdout, error } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
  encoding: 'utf8',
  timeout: TIMEOUT_MS,
  shell: process.platform === 'win32',
});

function parse(): Audit | null {
  try {
    return JSON.parse(stdout) as Audit;
  } catch {
    return null;
  }
}

const audit = error ? null : parse();
if (audit?.metadata === undefined) {
  const reason = error ? error.message : (audit?.message ?? 'no answer that can be read');
  process.stdout.write(
    `NOT CHECKED: the registry could not audit the dependencies (${reason}). Known vulnerabilities ` +
      'would not have shown: run "npm run check:audit" where the registry can be asked.\n',
  );
} else {
  const serious = Object.entries(audit.vulnerabilities ?? {}).filter(([, { severity }]) =>
    ['high', 'critical'].includes(severity),
  );
  for (const [name, { severity, range, fixAvailable }] of serious) {
    const advice = fixAvailable === false ? 'There is no fix yet.' : 'A newer version has the fix.';
    process.stderr.write(`${name} ${range} has a vulnerability of severity ${severity}. ${advice}\n`);
  }
  if (serious.length > 0) process.exitCode = 1;
  else process.stdout.write('No dependency has a known vulnerability of severity high or critical.\n');
}
