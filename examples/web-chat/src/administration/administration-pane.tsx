import type { User } from 'chat-server/client'
import { useMemo } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { type AdministrationRoute, hrefOf } from '../app/route.ts'
import { lazy } from '../parts/lazy.tsx'
import { SettingsPane } from '../parts/settings-pane.tsx'
import { administrationTexts } from '../texts/settings.ts'
import { texts } from '../texts/texts.ts'
import { AdminContext, adminClientOf } from './admin.ts'
import { AuditLog } from './audit-log.tsx'
import { Invites } from './invites.tsx'
import { Limits } from './limits.tsx'
import { Service } from './service.tsx'
import { UserDetails } from './user-details.tsx'
import { Users } from './users.tsx'

const UsageReport = lazy(() => import('./usage-report.tsx').then(({ UsageReport }) => UsageReport))
const Webhooks = lazy(() => import('./webhooks.tsx').then(({ Webhooks }) => Webhooks))

const TABS = ['users', 'invites', 'limits', 'usage', 'webhooks', 'audit', 'service'] as const

/** What administrators do: users, invites, rate limits, what the assistants use, webhooks, the audit log and the service itself. */
export function AdministrationPane({ route, user }: { route: AdministrationRoute; user: User }) {
  const app = useApp()
  const admin = useMemo(() => adminClientOf(app), [user.id])
  const { title, tabs } = administrationTexts.value
  const { webhooks, assistant } = app.features
  const offered = TABS.filter((name) => (name !== 'webhooks' || webhooks) && (name !== 'usage' || assistant))
  const current = offered.find((name) => name === route.tab) ?? 'users'
  if (!user.roles.includes('admin'))
    return (
      <SettingsPane title={title} tabs={[]} current="">
        <p class="quiet">{texts.value.errors.codes.forbidden}</p>
      </SettingsPane>
    )
  return (
    <AdminContext.Provider value={admin}>
      <SettingsPane
        title={title}
        tabs={offered.map((name) => [name, tabs[name], hrefOf({ name: 'administration', tab: name })])}
        current={current}
        item={current === 'users' ? route.id : undefined}
      >
        {current === 'users' && (route.id ? <UserDetails key={route.id} id={route.id} /> : <Users />)}
        {current === 'invites' && <Invites />}
        {current === 'limits' && <Limits />}
        {current === 'usage' && <UsageReport />}
        {current === 'webhooks' && <Webhooks />}
        {current === 'audit' && <AuditLog user_id={route.id} />}
        {current === 'service' && <Service />}
      </SettingsPane>
    </AdminContext.Provider>
  )
}
