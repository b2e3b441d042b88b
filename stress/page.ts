// What does a visitor get, and how fast? `npm run stress:page [case…]`
import { runCases } from '#stress/harness/cases.ts';
import { lighthouse } from '#stress/page/lighthouse.ts';
import { mails } from '#stress/page/mails.ts';
import { waits } from '#stress/page/waits.ts';

await runCases('stress:page', { lighthouse, waits, mails });
