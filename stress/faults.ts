// What is lost when something breaks? `npm run stress:faults [case…]`
import { cluster } from '#stress/faults/cluster.ts';
import { crash } from '#stress/faults/crash.ts';
import { disk } from '#stress/faults/disk.ts';
import { failover } from '#stress/faults/failover.ts';
import { smtp } from '#stress/faults/smtp.ts';
import { upgrade } from '#stress/faults/upgrade.ts';
import { runCases } from '#stress/harness/cases.ts';

await runCases('stress:faults', { crash, smtp, disk, cluster, failover, upgrade });
