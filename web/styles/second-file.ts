// The styles that travel with the application's second file (web/second-file/second-file.ts).
import content from '#web/content/content-stage.module.css?inline';
import tooltip from '#web/ui/tooltip.module.css?inline';
import verification from '#web/verification/verification-stage.module.css?inline';

export const secondFileStyles = [verification, content, tooltip].join('\n');
