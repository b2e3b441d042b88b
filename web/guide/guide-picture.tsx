// The cover of the guide with its pages behind it; media/ holds it in two widths.

type GuidePictureProps = {
  /** Empty where the picture repeats what stands beside it. */
  readonly alt: string;
  /** How wide it is shown, as `sizes` of an image. */
  readonly sizes: string;
};

const setOf = (type: string) => `/media/guide-400.${type} 400w, /media/guide-800.${type} 800w`;

/** The guide, on nothing, so that it lies on a ground of any colour. */
export function GuidePicture({ alt, sizes }: GuidePictureProps) {
  return (
    <picture>
      <source type="image/avif" srcSet={setOf('avif')} sizes={sizes} />
      <img
        src="/media/guide-400.webp"
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
