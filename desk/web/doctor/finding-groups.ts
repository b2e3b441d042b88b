// The doctor's findings in the order in which they are to be read: what stops mail first.
import type { Finding } from '#desk/endpoints/figures.ts';

const FINDING_STATES = ['problem', 'warning', 'note', 'ok'] as const satisfies readonly Finding['state'][];

export type FindingGroup = { readonly state: Finding['state']; readonly findings: readonly Finding[] };

/** Groups that are not empty. Within one, findings stay in the order of the examination. */
export const findingGroups = (findings: readonly Finding[]): readonly FindingGroup[] =>
  FINDING_STATES.map((state) => ({
    state,
    findings: findings.filter((finding) => finding.state === state),
  })).filter((group) => group.findings.length > 0);
