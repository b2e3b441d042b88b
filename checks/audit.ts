// Fails if a package has a known vulnerability of severity high or critical. Passes with a note if the registry is unreachable.
import { spawnSync } from 'node:child_process';

const TIMEOUT_MS = 20_000;

const { status, stdout, stderr } = spawnSync('npm', ['audit', '--audit-level=high'], {
  encoding: 'utf8',
  timeout: TIMEOUT_MS,
});
if (status === 0) process.stdout.write(stdout);
else if (/^Severity: /m.test(stdout)) {
  process.stderr.write(stdout);
  process.exitCode = 1;
} else
  process.stdout.write(
    `NOT CHECKED: the registry could not audit the dependencies (${stderr.trim().split('\n', 1)[0] || 'timeout'}). Known ` +
      'vulnerabilities may be missed: run "npm run check:audit" where the registry can be reached.\n',
  );
