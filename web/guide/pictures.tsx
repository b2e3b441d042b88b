import { SITE_PATH } from '#web/site-path.ts';

/** @param name base name of the files in media/ */
export const srcSetOf = (name: string, widths: readonly number[], type: 'avif' | 'webp'): string =>
  widths.map((width) => `${SITE_PATH}/media/${name}-${width}.${type} ${width}w`).join(', ');

type PictureProps = {
  readonly name: string;
  /** The first one is the width in the layout. */
  readonly widths: readonly [number, number];
  readonly height: number;
  readonly sizes: string;
  readonly alt: string;
};

function Picture({ name, widths, height, sizes, alt }: PictureProps) {
  const [width] = widths;
  return (
    <picture>
      <source type="image/avif" srcSet={srcSetOf(name, widths, 'avif')} sizes={sizes} />
      <img
        src={`${SITE_PATH}/media/${name}-${width}.webp`}
        srcSet={srcSetOf(name, widths, 'webp')}
        sizes={sizes}
        alt={alt}
        width={width}
        height={height}
        loading="lazy"
      />
    </picture>
  );
}

// Half the real width: the large picture would cost 16 kB more and hardly look sharper.
const ON_PHONES = '30vw';

export function GuidePicture({ alt, width }: { readonly alt: string; readonly width: string }) {
  const sizes = `(min-width: 768px) ${width}, ${ON_PHONES}`;
  return <Picture name="guide" widths={[400, 800]} height={300} sizes={sizes} alt={alt} />;
}

/** @param number of the picture, from 1 */
export function OpenPages({ number, alt }: { readonly number: number; readonly alt: string }) {
  const sizes = '(min-width: 1024px) 30rem, 90vw';
  return <Picture name={`inside-${number}`} widths={[480, 960]} height={330} sizes={sizes} alt={alt} />;
}
