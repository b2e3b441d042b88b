import { icon } from '#web/ui/icons.tsx';

const thin = (path: string) => icon(path, 1.5);

export const TodayIcon = thin('M4 20V11m5.3 9V4m5.4 16v-6M20 20V8');
export const LeadsIcon = thin(
  'M9 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM2.5 20c0-3.4 2.9-5.5 6.5-5.5s6.5 2.1 6.5 5.5M16 5a3.2 3.2 0 0 1 0 6.2m2.3 3.8c2 .8 3.2 2.5 3.2 5',
);
export const CompaniesIcon = thin('M4 21V4.5L13 3v18m0-12h7v12M2.5 21h19M7.5 8h2m-2 4h2m-2 4h2m7-3h1m-1 4h1');
export const AccountIcon = thin(
  'M12 3.5a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20.5c0-3.6 3.4-6 7.5-6s7.5 2.4 7.5 6',
);
export const MenuIcon = thin('M4 6.5h16M4 12h16M4 17.5h16');
export const SignOutIcon = thin('M10 4H5v16h5m4-12 4 4-4 4m4-4H9');
export const ExternalIcon = thin('M9 5H5v14h14v-4M13 4h7v7m0-7-9 9');
export const ColumnsIcon = thin('M4 5h16v14H4zm5.5 0v14m5-14v14');
export const FilterIcon = thin('M4 6h16M7 12h10m-7 6h4');
export const UpIcon = thin('M12 19V6m-5.5 5.5L12 6l5.5 5.5');
export const DownIcon = thin('M12 5v13m-5.5-5.5L12 18l5.5-5.5');
export const WarningIcon = thin('M12 3.5 2.5 20h19zM12 10v4.5m0 2.4v.2');
export const ProblemIcon = thin('M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 8v4.5m0 3v.2');
export const NoteIcon = thin('M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zm0 7.5v5m0-8.2v.2');
export const LostIcon = thin(
  'M10 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM3.5 20c0-3.4 2.9-5.5 6.5-5.5 1.2 0 2.4.2 3.4.7M16 16l5 5m0-5-5 5',
);
export const ReportIcon = thin('M6 3.5h8.5L19 8v12.5H6zM14 3.5V8.5h5M9.5 17v-3.5m3 3.5v-5.5m3 5.5v-2');
export const MailIcon = thin('M3.5 6h17v12h-17zM4 6.5l8 6.5 8-6.5');
export const DoctorIcon = thin('M3.5 12h4l2.5-6.5 4 13 2.5-6.5h4');
export const LogIcon = thin('M8.5 6h12m-12 6h12m-12 6h12M4 6h.5M4 12h.5M4 18h.5');
