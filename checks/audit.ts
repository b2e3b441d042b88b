// Fails if a used package has a known vulnerability of severity high or critical. Passes with a note if the registry is unreachable.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const TIMEOUT_MS = 20_000;

type Audit = {
  /** Only set if npm returned an error instead of an audit. */
  readonly message?: string;
  readonly metadata?: { readonly vulnerabilities: Readonly<Record<string, number>> };
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly severity: string; readonly range: string; readonly fixAvailable: unknown }>
  >;
};

type Installed = {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
};

const { stdout, error } = spawnSync('npm', ['audit', '--json'], {
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
  const reason = error ? error.message : (audit?.message ?? 'unreadable response');
  process.stdout.write(
    `NOT CHECKED: the registry could not audit the dependencies (${reason}). Known vulnerabilities ` +
      'may be missed: run "npm run check:audit" where the registry can be reached.\n',
  );
} else {
  const used = usedPackages();
  const serious = Object.entries(audit.vulnerabilities ?? {}).filter(
    ([name, { severity }]) => used.has(name) && ['high', 'critical'].includes(severity),
  );
  for (const [name, { severity, range, fixAvailable }] of serious) {
    const advice = fixAvailable === false ? 'There is no fix yet.' : 'A newer version has the fix.';
    process.stderr.write(`${name} ${range} has a vulnerability of severity ${severity}. ${advice}\n`);
  }
  if (serious.length > 0) process.exitCode = 1;
  else process.stdout.write('No dependency has a known vulnerability of severity high or critical.\n');
}

function usedPackages(): ReadonlySet<string> {
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as unknown;
  const { dependencies, buildPackages } = read('package.json') as {
    dependencies: Readonly<Record<string, string>>;
    buildPackages: readonly string[];
  };
  const { packages } = read('package-lock.json') as {
    packages: Readonly<Record<string, Partial<Installed>>>;
  };
  // Iterating over a set includes values added meanwhile.
  const used = new Set([...Object.keys(dependencies), ...buildPackages]);
  for (const name of used) {
    for (const [place, { dependencies: needs, optionalDependencies: wishes }] of Object.entries(packages)) {
      if (!place.endsWith(`node_modules/${name}`)) continue;
      for (const need of Object.keys({ ...needs, ...wishes })) used.add(need);
    }
  }
  return used;
}
