import { SITE_PATH } from '#web/site-path.ts';

const setOf = (number: number, type: string): string =>
  [480, 960].map((width) => `${SITE_PATH}/media/inside-${number}-${width}.${type} ${width}w`).join(', ');
const SIZES = '(min-width: 1024px) 30rem, 90vw';

/** @param number of the picture, from 1 */
export function OpenPages({ number, alt }: { readonly number: number; readonly alt: string }) {
  return (
    <picture>
      <source type="image/avif" srcSet={setOf(number, 'avif')} sizes={SIZES} />
      <img
        src={`${SITE_PATH}/media/inside-${number}-480.webp`}
        srcSet={setOf(number, 'webp')}
        sizes={SIZES}
        alt={alt}
        width={480}
        height={330}
        loading="lazy"
      />
    </picture>
  );
}
