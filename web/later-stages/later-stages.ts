// The application's second file: everything after the form.
import { adoptStyles } from '#web/styles/adopt-styles.ts';
import { laterStagesStyles } from '#web/styles/later-stages-styles.ts';

export { ContentStage } from '#web/content/content-stage.tsx';
export { Tooltips } from '#web/ui/tooltips.tsx';
export { Restoring } from '#web/verification/restoring.tsx';
export { VerificationStage } from '#web/verification/verification-stage.tsx';

adoptStyles(document, laterStagesStyles);
