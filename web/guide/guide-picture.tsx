// The cover of the guide with its pages behind it; media/ holds it in two widths.
import { SITE_PATH } from '#web/site-path.ts';

type GuidePictureProps = {
  /** Empty where the picture repeats what stands beside it. */
  readonly alt: string;
  /** How wide it is shown from 768 px on, in CSS. */
  readonly width: string;
};

// On a phone it is shown twice as wide as this says: the large picture would be 16 kB more, and hardly sharper there.
const ON_PHONES = '30vw';

const setOf = (type: string) =>
  `${SITE_PATH}/media/guide-400.${type} 400w, ${SITE_PATH}/media/guide-800.${type} 800w`;

/** The guide, on nothing, so that it lies on a ground of any colour. */
export function GuidePicture({ alt, width }: GuidePictureProps) {
  const sizes = `(min-width: 768px) ${width}, ${ON_PHONES}`;
  return (
    <picture>
      <source type="image/avif" srcSet={setOf('avif')} sizes={sizes} />
      <img
        src={`${SITE_PATH}/media/guide-400.webp`}
        srcSet={setOf('webp')}
        sizes={sizes}
        alt={alt}
        width={400}
        height={300}
        loading="lazy"
      />
    </picture>
  );
}
