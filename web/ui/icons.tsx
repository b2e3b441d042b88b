// Our icons: one stroke on a grid of 24 (docs/decisions/0007). They are decorative; the control or heading next to them has the
// name.

import type { DrawnIcon } from '#shared/campaign-schema.ts';

type IconProps = { readonly size?: number; readonly className?: string | undefined };

export const icon = (path: string, weight = 1.75) =>
  function Icon({ size = 20, className }: IconProps) {
    return (
      <svg className={className} width={size} height={size} viewBox="0 0 24 24" aria-hidden>
        <path
          d={path}
          fill="none"
          stroke="currentColor"
          strokeWidth={weight}
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
    );
  };

export const ArrowLeftIcon = icon('M20 12H4m6-6-6 6 6 6');
export const ArrowRightIcon = icon('M4 12h16m-6-6 6 6-6 6');
export const DownloadIcon = /* @__PURE__ */ icon('M12 4v11m-5-5 5 5 5-5M5 20h14');
export const CloseIcon = icon('m6 6 12 12m0-12L6 18');
export const MoonIcon = icon('M20.5 14.3A8.7 8.7 0 0 1 9.7 3.5a8.7 8.7 0 1 0 10.8 10.8z');
export const PlayIcon = icon('M8 5v14l11-7z', 2);
export const ShareIcon = icon(
  'M8.3 10.7l7.4-4.2m-7.4 6.8 7.4 4.2M18 2.7a2.6 2.6 0 1 0 0 5.2 2.6 2.6 0 0 0 0-5.2zM6 9.4a2.6 2.6 0 1 0 0 5.2 2.6 2.6 0 0 0 0-5.2zm12 6.7a2.6 2.6 0 1 0 0 5.2 2.6 2.6 0 0 0 0-5.2z',
);
export const SunIcon = icon(
  'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zm0-5.5v1.7m0 15.6v1.7M5.3 5.3l1.2 1.2m11 11 1.2 1.2M2.5 12h1.7m15.6 0h1.7M5.3 18.7l1.2-1.2m11-11 1.2-1.2',
);

const THIN = 1.1;

/**
 * An icon from the campaign's set, with the same stroke width as ours.
 * @param lines SVG markup, only from the build
 */
export function LinesIcon({ lines, size }: { readonly lines: string; readonly size: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      aria-hidden
      fill="none"
      stroke="currentColor"
      strokeWidth={THIN}
      strokeLinecap="round"
      strokeLinejoin="round"
      dangerouslySetInnerHTML={{ __html: lines }}
    />
  );
}

/** Our icons for landing.yaml, by the name that it uses. */
export const NAMED_ICONS: Readonly<Record<DrawnIcon, ReturnType<typeof icon>>> = {
  prompt: icon(
    'M10.5 21H5.2A1.2 1.2 0 0 1 4 19.8V4.2A1.2 1.2 0 0 1 5.2 3h9.6A1.2 1.2 0 0 1 16 4.2V9M7 7.5h6M7 11h4m9.7.4a1.6 1.6 0 0 0-2.3 0l-5.2 5.3-.9 3.8 3.8-.9 5.2-5.3a1.6 1.6 0 0 0 0-2.3z',
    THIN,
  ),
  knowledge: icon('M3.5 10.5h17v10.5h-17zM5 8.2h14M6.6 6h10.8M8.2 3.9h7.6M9.8 2h4.4M7 14h10M7 17.3h6', THIN),
  drivers: icon(
    'M12 2.8a4.9 4.9 0 1 0 0 9.8 4.9 4.9 0 0 0 0-9.8zm0 8.6a4.9 4.9 0 1 0 0 9.8 4.9 4.9 0 0 0 0-9.8zM7.7 7.1a4.9 4.9 0 1 0 0 9.8 4.9 4.9 0 0 0 0-9.8zm8.6 0a4.9 4.9 0 1 0 0 9.8 4.9 4.9 0 0 0 0-9.8z',
    THIN,
  ),
  deliverability: icon(
    'M3 8.5v10.3A1.2 1.2 0 0 0 4.2 20h15.6a1.2 1.2 0 0 0 1.2-1.2V8.5M3 8.5l7.3 6L22 4',
    THIN,
  ),
  refinement: icon('M19.4 15.5A8.3 8.3 0 1 1 18.6 7M19.5 3.2V7.5h-4.3M8.7 12.2l2.5 2.5 4.6-5', THIN),
  results: icon('M3 21h18M5.7 17.5v-3m4.2 3v-5m4.2 5V9.8m4.2 7.7V7M4.5 10 10 6l3 1.5L19 3', THIN),
};
