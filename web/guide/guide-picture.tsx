import { SITE_PATH } from '#web/site-path.ts';

type GuidePictureProps = {
  readonly alt: string;
  readonly width: string;
};

// Half the real width: the large picture would cost 16 kB more and hardly look sharper.
const ON_PHONES = '30vw';

const setOf = (type: string) =>
  `${SITE_PATH}/media/guide-400.${type} 400w, ${SITE_PATH}/media/guide-800.${type} 800w`;

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
