import {
  Ban,
  CheckCheck,
  FlaskConical,
  GitCompareArrows,
  History,
  KeyRound,
  LayoutDashboard,
  List,
  type LucideIcon,
  Send,
  UserCheck,
  Users,
} from 'lucide-react';
import { type ComponentType, lazy } from 'react';
import type { Scope } from './api/session';

/** Link in the navigation. */
interface NavItem {
  path: string;
  title: string;
  icon: LucideIcon;
  /** Shown to keys with one of these scopes. */
  scopes: Scope[];
  sandboxOnly?: boolean;
}

export const NAV_ITEMS: NavItem[] = [
  { path: '/', title: 'Overview', icon: LayoutDashboard, scopes: ['audit', 'reconcile', 'approve', 'admin'] },
  { path: '/calls', title: 'Calls', icon: List, scopes: ['audit'] },
  { path: '/payouts', title: 'Payouts', icon: Send, scopes: ['audit'] },
  { path: '/approvals', title: 'Approvals', icon: CheckCheck, scopes: ['approve'] },
  { path: '/reconciliation', title: 'Reconciliation', icon: GitCompareArrows, scopes: ['reconcile'] },
  { path: '/clients', title: 'Clients', icon: Users, scopes: ['admin'] },
  { path: '/changes', title: 'Changes', icon: UserCheck, scopes: ['admin', 'approve'] },
  { path: '/activity', title: 'Activity', icon: History, scopes: ['admin', 'audit'] },
  { path: '/stops', title: 'Stop switch', icon: Ban, scopes: ['admin'] },
  {
    path: '/claim',
    title: 'Claim a key',
    icon: KeyRound,
    scopes: ['audit', 'reconcile', 'approve', 'admin'],
  },
  { path: '/sandbox', title: 'Sandbox', icon: FlaskConical, scopes: ['admin'], sandboxOnly: true },
];

/** Page at a URL. */
interface PageRoute {
  path: string;
  scopes: Scope[];
  page: ComponentType;
}

/** Pages of the console. Each is loaded when it is first opened. */
export const ROUTES: PageRoute[] = [
  {
    path: '/',
    scopes: ['audit', 'reconcile', 'approve', 'admin'],
    page: lazy(() => import('./pages/overview/overview')),
  },
  { path: '/calls', scopes: ['audit'], page: lazy(() => import('./pages/calls/calls')) },
  { path: '/payouts', scopes: ['audit'], page: lazy(() => import('./pages/calls/payouts')) },
  { path: '/calls/:id', scopes: ['audit'], page: lazy(() => import('./pages/call/call')) },
  { path: '/approvals', scopes: ['approve'], page: lazy(() => import('./pages/approvals/approvals')) },
  { path: '/approvals/:id', scopes: ['approve'], page: lazy(() => import('./pages/approvals/approval')) },
  {
    path: '/reconciliation',
    scopes: ['reconcile'],
    page: lazy(() => import('./pages/reconciliation/runs/runs')),
  },
  {
    path: '/reconciliation/runs/:id',
    scopes: ['reconcile'],
    page: lazy(() => import('./pages/reconciliation/runs/run')),
  },
  {
    path: '/reconciliation/findings',
    scopes: ['reconcile'],
    page: lazy(() => import('./pages/reconciliation/findings/findings')),
  },
  {
    path: '/reconciliation/findings/:id',
    scopes: ['reconcile'],
    page: lazy(() => import('./pages/reconciliation/findings/finding')),
  },
  {
    path: '/reconciliation/statements',
    scopes: ['reconcile'],
    page: lazy(() => import('./pages/reconciliation/statements/statements')),
  },
  { path: '/clients', scopes: ['admin'], page: lazy(() => import('./pages/clients/clients')) },
  { path: '/clients/:name', scopes: ['admin'], page: lazy(() => import('./pages/clients/client')) },
  {
    path: '/clients/:name/beneficiaries',
    scopes: ['admin'],
    page: lazy(() => import('./pages/clients/beneficiaries/beneficiaries')),
  },
  {
    path: '/clients/:name/persons',
    scopes: ['admin'],
    page: lazy(() => import('./pages/clients/people/persons')),
  },
  {
    path: '/clients/:name/persons/:id',
    scopes: ['admin'],
    page: lazy(() => import('./pages/clients/people/person')),
  },
  { path: '/changes', scopes: ['admin', 'approve'], page: lazy(() => import('./pages/changes/changes')) },
  { path: '/activity', scopes: ['admin', 'audit'], page: lazy(() => import('./pages/activity/activity')) },
  { path: '/stops', scopes: ['admin'], page: lazy(() => import('./pages/stops/stops')) },
  {
    path: '/claim',
    scopes: ['audit', 'reconcile', 'approve', 'admin'],
    page: lazy(() => import('./pages/claim/claim')),
  },
  { path: '/sandbox', scopes: ['admin'], page: lazy(() => import('./pages/sandbox/sandbox')) },
];
