import { useEffect, useEffectEvent, useRef, useState, type Ref } from 'react';

import type { video } from '#campaign/landing.yaml';
import * as site from '#campaign/site.yaml';
import { srcSetOf } from '#web/guide/pictures.tsx';
import film from '#web/landing/film.module.css';
import styles from '#web/landing/landing.module.css';
import { Button } from '#web/ui/button.tsx';
import { PlayIcon } from '#web/ui/icons.tsx';
import { SITE_PATH } from '#web/site-path.ts';

/** Specification, section 9. */
const START_DELAY_MS = 100;

type VideoCardProps = NonNullable<typeof video> & {
  readonly ref: Ref<HTMLElement>;
  readonly onCallToAction: () => void;
};

export function VideoCard({
  ref,
  label,
  playLabel,
  caption,
  notPlayable,
  button,
  onCallToAction,
}: VideoCardProps) {
  const [playing, setPlaying] = useState(false);
  const [failed, setFailed] = useState(false);
  const [ended, setEnded] = useState(false);
  return (
    <figure ref={ref} className={styles.video}>
      {playing ? (
        <div className={film.film}>
          <Player label={label} onFailure={() => setFailed(true)} onEnded={setEnded} />
          {ended && button && (
            <Button className={film.button} onClick={onCallToAction}>
              {button}
            </Button>
          )}
        </div>
      ) : (
        <Thumbnail playLabel={playLabel} onPlay={() => setPlaying(true)} />
      )}
      <figcaption>{failed ? <span role="alert">{notPlayable}</span> : caption}</figcaption>
    </figure>
  );
}

function Thumbnail({ playLabel, onPlay }: { readonly playLabel: string; readonly onPlay: () => void }) {
  return (
    <button type="button" className={styles.thumbnail} aria-label={playLabel} onClick={onPlay}>
      <picture>
        <source
          type="image/avif"
          srcSet={srcSetOf('poster', [640, 960], 'avif')}
          sizes="(min-width: 1120px) 65rem, (min-width: 768px) 92vw, 48vw"
        />
        <img src={`${SITE_PATH}/media/poster-640.webp`} alt="" width={1280} height={720} loading="lazy" />
      </picture>
      <span className={styles.playMark}>
        <PlayIcon size={26} />
      </span>
    </button>
  );
}

type PlayerProps = {
  readonly label: string;
  readonly onFailure: () => void;
  readonly onEnded: (ended: boolean) => void;
};

function Player({ label, onFailure, onEnded }: PlayerProps) {
  const video = useRef<HTMLVideoElement>(null);
  const notPlayable = useEffectEvent(onFailure);

  useEffect(() => {
    video.current?.focus({ preventScroll: true });
    // WebKit follows the system's settings instead of the default track.
    const captions = video.current?.textTracks[0];
    if (captions) captions.mode = 'showing';
    const timer = setTimeout(() => {
      video.current?.play().catch((error: unknown) => {
        // If the browser refuses to start playback, the visitor can use the controls.
        if (error instanceof DOMException && error.name === 'NotSupportedError') notPlayable();
      });
    }, START_DELAY_MS);
    return () => clearTimeout(timer);
  }, []);

  return (
    <video
      ref={video}
      aria-label={label}
      controls
      controlsList="nodownload"
      disablePictureInPicture
      playsInline
      preload="none"
      poster={`${SITE_PATH}/media/poster-960.webp`}
      width={1280}
      height={720}
      // React also calls this if a source fails.
      onError={({ target, currentTarget }) => target === currentTarget && onFailure()}
      onContextMenu={(event) => event.preventDefault()}
      onEnded={() => onEnded(true)}
      onSeeking={() => onEnded(false)}
    >
      <source src={`${SITE_PATH}/media/film.webm`} type="video/webm" />
      {/* If the last source fails, the film cannot be played. */}
      <source src={`${SITE_PATH}/media/film.mp4`} type="video/mp4" onError={onFailure} />
      <track
        kind="captions"
        src={`${SITE_PATH}/media/film.vtt`}
        srcLang={site.language}
        label={site.languageName}
        default
      />
    </video>
  );
}
