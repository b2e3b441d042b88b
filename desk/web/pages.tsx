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
  readonly Page: ComponentType;
  readonly needs: Role;
  readonly inMenu: {
    readonly name: string;
    readonly icon: Icon;
    readonly group: 'people' | 'figures' | 'server';
  } | null;
  /** For a page outside the menu: the path of the entry to mark as current. */
  readonly belongsTo?: `/${string}`;
};

export const PAGES: readonly DeskPage[] = [
  {
    path: '/',
    Page: Today,
    needs: 'read',
    inMenu: { name: 'Today', icon: TodayIcon, group: 'figures' },
  },
  {
    path: '/leads',
    Page: Leads,
    needs: 'read',
    inMenu: { name: 'Leads', icon: LeadsIcon, group: 'people' },
  },
  {
    path: '/companies',
    Page: Companies,
    needs: 'read',
    inMenu: { name: 'Companies', icon: CompaniesIcon, group: 'people' },
  },
  { path: '/person', Page: PersonPage, needs: 'read', inMenu: null, belongsTo: '/leads' },
  {
    path: '/lost',
    Page: LostPage,
    needs: 'read',
    inMenu: { name: 'Lost', icon: LostIcon, group: 'people' },
  },
  {
    path: '/report',
    Page: ReportPage,
    needs: 'read',
    inMenu: { name: 'Report', icon: ReportIcon, group: 'figures' },
  },
  {
    path: '/mail',
    Page: MailPage,
    needs: 'read',
    inMenu: { name: 'Mail', icon: MailIcon, group: 'server' },
  },
  {
    path: '/doctor',
    Page: DoctorPage,
    needs: 'read',
    inMenu: { name: 'Doctor', icon: DoctorIcon, group: 'server' },
  },
  {
    path: '/log',
    Page: LogPage,
    needs: 'all',
    inMenu: { name: 'Audit log', icon: LogIcon, group: 'server' },
  },
  {
    path: '/account',
    Page: Account,
    needs: 'read',
    inMenu: { name: 'Account', icon: AccountIcon, group: 'server' },
  },
];
