import type { OutputOf } from '#desk/endpoints/endpoint.ts';
import type { doctor as doctorEndpoint } from '#desk/endpoints/figures.ts';
import { examine } from '#desk/doctor/doctor.ts';
import { createCache } from '#desk/server/handlers/cache.ts';
import type { Handler } from '#desk/server/handler.ts';
import { isoTime, MINUTE_MS } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';

const MAX_AGE_MS = 10 * MINUTE_MS;

type Examination = OutputOf<typeof doctorEndpoint>;

export function createDoctor({ clock }: Pick<Service, 'clock'>): {
  readonly doctor: Handler<typeof doctorEndpoint>;
  readonly lastExamination: () => Examination | undefined;
} {
  const cache = createCache<Examination>({ maxAgeMs: MAX_AGE_MS, maxEntries: 1, clock });
  return {
    doctor: ({ service: { config, folder, warnings, campaign }, dnsServers }, { again }) =>
      cache.get(
        '',
        async () => {
          const now = clock();
          const findings = await examine({
            settings: { type: 'settings', config, folder, warnings },
            campaignFolder: campaign.folder,
            dnsServers,
            sampleTo: null,
            now,
            // The doctor limits itself, and other callers may share this run.
            signal: new AbortController().signal,
          });
          return { findings, checkedAt: isoTime(now) };
        },
        { again: again === 'yes' },
      ),
    lastExamination: () => cache.newest(''),
  };
}
