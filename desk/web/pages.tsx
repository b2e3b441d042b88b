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

type Icon = ComponentType<{ readonly size?: number }>;

export type DeskPage = {
  readonly path: `/${string}`;
  readonly name: string;
  readonly Page: ComponentType;
  readonly needs: Role;
  /** Null outside the menu. */
  readonly Icon: Icon | null;
  readonly group: 'people' | 'figures' | 'server';
  /** For a page outside the menu: the path of the entry to mark as current. */
  readonly belongsTo?: `/${string}`;
};

export const PAGES: readonly DeskPage[] = [
  { path: '/', name: 'Today', Page: Today, needs: 'read', Icon: TodayIcon, group: 'figures' },
  { path: '/leads', name: 'Leads', Page: Leads, needs: 'read', Icon: LeadsIcon, group: 'people' },
  {
    path: '/companies',
    name: 'Companies',
    Page: Companies,
    needs: 'read',
    Icon: CompaniesIcon,
    group: 'people',
  },
  {
    path: '/person',
    name: 'Person',
    Page: PersonPage,
    needs: 'read',
    Icon: null,
    group: 'people',
    belongsTo: '/leads',
  },
  { path: '/lost', name: 'Lost', Page: LostPage, needs: 'read', Icon: LostIcon, group: 'people' },
  { path: '/report', name: 'Report', Page: ReportPage, needs: 'read', Icon: ReportIcon, group: 'figures' },
  { path: '/mail', name: 'Mail', Page: MailPage, needs: 'read', Icon: MailIcon, group: 'server' },
  { path: '/doctor', name: 'Doctor', Page: DoctorPage, needs: 'read', Icon: DoctorIcon, group: 'server' },
  { path: '/log', name: 'Audit log', Page: LogPage, needs: 'all', Icon: LogIcon, group: 'server' },
  { path: '/account', name: 'Account', Page: Account, needs: 'read', Icon: AccountIcon, group: 'server' },
];
