import type { Happening } from '#desk/endpoints/people.ts';

const PATHS: Readonly<Record<Happening['kind'], string>> = {
  form: 'M7 3.5h10A1.5 1.5 0 0 1 18.5 5v14a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 19V5A1.5 1.5 0 0 1 7 3.5zM9 8h6M9 12h6M9 16h3',
  mail: 'M4 6.5h16v11H4zM4 7l8 6 8-6',
  code: 'M9 4 7 20M17 4l-2 16M4.5 9h16M3.5 15h16',
  lead: 'm5 12.5 4.5 4.5L19 7.5',
  read: 'M12 6.5C10 5 7 4.5 4 4.5v14c3 0 6 .5 8 2 2-1.5 5-2 8-2v-14c-3 0-6 .5-8 2zm0 0v14',
  consent: 'M12 3 5 6v5.5c0 4.5 3 7.8 7 9.5 4-1.7 7-5 7-9.5V6zM9 12l2.2 2.2L15.5 10',
  withdrawal: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM8 12h8',
  correction: 'M5 19h3.5L19 8.5 15.5 5 5 15.5zM13 7.5l3.5 3.5',
  export: 'M12 4v11m-5-5 5 5 5-5M5 20h14',
  webhook: 'M13 3 5 13.5h6L10.5 21 19 10.5h-6z',
  other: 'M12 11.25a.75.75 0 1 0 0 1.5.75.75 0 0 0 0-1.5z',
};

export function Sign({ kind, size = 16 }: { readonly kind: Happening['kind']; readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden>
      <path
        d={PATHS[kind]}
        fill="none"
        stroke="currentColor"
        strokeWidth={2}
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
