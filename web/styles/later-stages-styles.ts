import content from '#web/content/content-stage.module.css?inline';
import openingEnvelope from '#web/content/opening-envelope.module.css?inline';
import tooltip from '#web/ui/tooltip.module.css?inline';
import verification from '#web/verification/verification-stage.module.css?inline';
import waitingAside from '#web/verification/waiting-aside.module.css?inline';

export const laterStagesStyles = [verification, waitingAside, content, openingEnvelope, tooltip].join('\n');
