// The film: a thumbnail with a play button, and after a press the player (specification, section 2).
import { useEffect, useRef, useState } from 'react';

import * as site from '#campaign/site.yaml';
import end from '#web/landing/film-end.module.css';
import styles from '#web/landing/landing.module.css';
import { Button } from '#web/ui/button.tsx';
import { PlayIcon } from '#web/ui/icons.tsx';

/** Specification, section 9. */
const START_DELAY_MS = 100;

type VideoCardProps = {
  readonly label: string;
  readonly playLabel: string;
  readonly caption: string;
  /** Of the button over the film when it has ended; without it there is none. */
  readonly button?: string | undefined;
  readonly onCallToAction: () => void;
};

/** Starts as a picture, so that nothing of the film is downloaded before somebody wants to see it. */
export function VideoCard({ label, playLabel, caption, button, onCallToAction }: VideoCardProps) {
  const [playing, setPlaying] = useState(false);
  const [ended, setEnded] = useState(false);
  return (
    <figure className={styles.video}>
      {playing ? (
        <div className={end.film}>
          <Player label={label} onEnded={setEnded} />
          {ended && button && (
            <Button className={end.button} onClick={onCallToAction}>
              {button}
            </Button>
          )}
        </div>
      ) : (
        <Thumbnail playLabel={playLabel} onPlay={() => setPlaying(true)} />
      )}
      <figcaption>{caption}</figcaption>
    </figure>
  );
}

function Thumbnail({ playLabel, onPlay }: { readonly playLabel: string; readonly onPlay: () => void }) {
  return (
    <button type="button" className={styles.thumbnail} aria-label={playLabel} onClick={onPlay}>
      <picture>
        <source
          type="image/avif"
          srcSet="/media/poster-640.avif 640w, /media/poster-960.avif 960w"
          sizes="(min-width: 768px) 34rem, 92vw"
        />
        <img src="/media/poster-640.webp" alt="" width={1280} height={720} loading="lazy" />
      </picture>
      <span className={styles.playMark}>
        <PlayIcon size={26} />
      </span>
    </button>
  );
}

type PlayerProps = { readonly label: string; readonly onEnded: (ended: boolean) => void };

function Player({ label, onEnded }: PlayerProps) {
  const video = useRef<HTMLVideoElement>(null);

  useEffect(() => {
    video.current?.focus({ preventScroll: true });
    const timer = setTimeout(() => {
      // A browser may refuse to start by itself; the controls are there.
      video.current?.play().catch(() => {});
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
      poster="/media/poster-960.webp"
      width={1280}
      height={720}
      onContextMenu={(event) => event.preventDefault()}
      onEnded={() => onEnded(true)}
      onSeeking={() => onEnded(false)}
    >
      <source src="/media/film.webm" type="video/webm" />
      <source src="/media/film.mp4" type="video/mp4" />
      <track
        kind="captions"
        src="/media/film.vtt"
        srcLang={site.language}
        label={site.languageName}
        default
      />
    </video>
  );
}
