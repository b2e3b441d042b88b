// Which mailbox is whose.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { platformOfDomain, platformOfMailServer } from '#server/figures/mail-platforms.ts';

describe('a mail platform', () => {
  it('is known by the domains of the providers, and by none that look alike', () => {
    for (const [domain, platform] of [
      ['gmail.com', 'Google'],
      ['googlemail.com', 'Google'],
      ['hotmail.co.uk', 'Microsoft'],
      ['live.nl', 'Microsoft'],
      ['msn.com', 'Microsoft'],
      ['yahoo.de', 'Yahoo'],
      ['aol.com', 'Yahoo'],
      ['yahoo.co.jp', null],
      ['me.com', 'Apple'],
      ['web.de', 'GMX, WEB.DE'],
      ['proton.me', 'Proton'],
      ['gmail.com.example', null],
      ['notgmail.com', null],
      ['live.example', null],
      ['', null],
    ] as const)
      assert.equal(platformOfDomain(domain), platform, domain);
  });

  it('is known by the mail servers of other domains', () => {
    for (const [host, platform] of [
      ['ASPMX.L.GOOGLE.COM.', 'Google Workspace'],
      ['alt2.aspmx.l.google.com', 'Google Workspace'],
      ['smtp.google.com', 'Google Workspace'],
      ['aspmx3.googlemail.com', 'Google Workspace'],
      ['gmail-smtp-in.l.google.com', 'Google'],
      ['example-com.mail.protection.outlook.com', 'Microsoft 365'],
      ['example-com.o-v1.mx.microsoft', 'Microsoft 365'],
      ['outlook-com.olc.protection.outlook.com', 'Microsoft'],
      ['mx-biz.mail.am0.yahoodns.net', 'Yahoo'],
      ['mx01.mail.icloud.com', 'Apple'],
      ['mx00.emig.gmx.net', 'GMX, WEB.DE'],
      ['mx-ha02.web.de', 'GMX, WEB.DE'],
      ['mail.protonmail.ch', 'Proton'],
      ['mx2.zoho.eu', 'Zoho'],
      ['in1-smtp.messagingengine.com', 'Fastmail'],
      ['mx00.ionos.co.uk', 'IONOS'],
      ['mx01.kundenserver.de', 'IONOS'],
      ['mx1.mail.ovh.net', 'OVH'],
      ['mx1.emailsrvr.com', 'Rackspace'],
      ['inbound-smtp.eu-west-1.amazonaws.com', 'Amazon'],
      ['mx0a-00112233.pphosted.com', 'Proofpoint'],
      ['mx1-eu1.ppe-hosted.com', 'Proofpoint'],
      ['eu-smtp-inbound-1.mimecast.com', 'Mimecast'],
      ['za-smtp-inbound-1.mimecast.co.za', 'Mimecast'],
      ['d174024a.ess.barracudanetworks.com', 'Barracuda'],
      ['mx1.hc1234-56.iphmx.com', 'Cisco'],
      ['example.in.tmes.trendmicro.eu', 'Trend Micro'],
      ['mx-01-eu-central-1.prod.hydra.sophos.com', 'Sophos'],
      ['cluster1.eu.messagelabs.com', 'Symantec'],
      ['mx01.hornetsecurity.com', 'Hornetsecurity'],
      ['mail.example.com', 'other'],
      ['aspmx.l.google.com.example', 'other'],
      ['evilpphosted.com', 'other'],
    ] as const)
      assert.equal(platformOfMailServer(host), platform, host);
  });
});
