import type { DrawnPath } from '#shared/drawings.ts';

export function DrawnPaths({ paths }: { readonly paths: readonly DrawnPath[] }) {
  return paths.map(([path, fill, stroke, strokeWidth]) => (
    <path key={path} d={path} fill={fill} stroke={stroke} strokeWidth={strokeWidth} />
  ));
}
