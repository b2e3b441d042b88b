import type { ComponentType } from 'react';

import type { Role } from '#desk/endpoints/endpoint.ts';
import { Account } from '#desk/web/account/account.tsx';
import { Companies } from '#desk/web/companies/companies.tsx';
import { DoctorPage } from '#desk/web/doctor/doctor-page.tsx';
import { Leads } from '#desk/web/leads/leads.tsx';
import { LogPage } from '#desk/web/log/log-page.tsx';
import { LostPage } from '#desk/web/lost/lost-page.tsx';
import { MailPage } from '#desk/web/mail/mail-page.tsx';
import { PersonPage } from '#desk/web/person/person-page.tsx';
import { ReportPage } from '#desk/web/report/report-page.tsx';
import { Today } from '#desk/web/today/today.tsx';
import {
  AccountIcon,
  CompaniesIcon,
  DoctorIcon,
  LeadsIcon,
  LogIcon,
  LostIcon,
  MailIcon,
  ReportIcon,
  TodayIcon,
} from '#desk/web/ui/icons.tsx';

type DeskPage = {
  readonly path: `/${string}`;
  readonly name: string;
  readonly Page: ComponentType;
  readonly needs?: Role;
  /** Absent for pages outside the menu. */
  readonly Icon?: ComponentType<{ readonly size?: number }>;
  readonly startsGroup?: true;
  /** The menu entry to mark as current, for a page outside the menu. */
  readonly menuPath?: `/${string}`;
};

const PAGES: readonly DeskPage[] = [
  { path: '/', name: 'Today', Page: Today, Icon: TodayIcon },
  { path: '/leads', name: 'Leads', Page: Leads, Icon: LeadsIcon, startsGroup: true },
  { path: '/companies', name: 'Companies', Page: Companies, Icon: CompaniesIcon },
  { path: '/person', name: 'Person', Page: PersonPage, menuPath: '/leads' },
  { path: '/lost', name: 'Lost', Page: LostPage, Icon: LostIcon },
  { path: '/report', name: 'Report', Page: ReportPage, Icon: ReportIcon, startsGroup: true },
  { path: '/mail', name: 'Mail', Page: MailPage, Icon: MailIcon, startsGroup: true },
  { path: '/doctor', name: 'Doctor', Page: DoctorPage, Icon: DoctorIcon },
  { path: '/log', name: 'Audit log', Page: LogPage, needs: 'all', Icon: LogIcon },
  { path: '/account', name: 'Account', Page: Account, Icon: AccountIcon },
];

export const pagesFor = (role: Role): readonly DeskPage[] =>
  PAGES.filter(({ needs = 'read' }) => needs === 'read' || role === 'all');
