// The application's second file: everything after the form.
import content from '#web/content/content-stage.module.css?inline';
import openingEnvelope from '#web/content/opening-envelope.module.css?inline';
import { adoptStyles } from '#web/styles/adopt-styles.ts';
import tooltip from '#web/ui/tooltip.module.css?inline';
import verification from '#web/verification/verification-stage.module.css?inline';
import waitingAside from '#web/verification/waiting-aside.module.css?inline';

export { ContentStage } from '#web/content/content-stage.tsx';
export { Tooltips } from '#web/ui/tooltips.tsx';
export { Restoring } from '#web/verification/restoring.tsx';
export { VerificationStage } from '#web/verification/verification-stage.tsx';

adoptStyles([verification, waitingAside, content, openingEnvelope, tooltip].join('\n'));
