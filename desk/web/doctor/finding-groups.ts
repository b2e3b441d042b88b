import type { Finding } from '#desk/endpoints/figures.ts';

const FINDING_STATES = ['problem', 'warning', 'note', 'ok'] as const satisfies readonly Finding['state'][];

export type FindingGroup = { readonly state: Finding['state']; readonly findings: readonly Finding[] };

export const findingGroups = (findings: readonly Finding[]): readonly FindingGroup[] =>
  FINDING_STATES.map((state) => ({
    state,
    findings: findings.filter((finding) => finding.state === state),
  })).filter((group) => group.findings.length > 0);
