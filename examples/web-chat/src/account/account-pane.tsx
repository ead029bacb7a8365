import type { User } from 'chat-server/client'
import { useApp } from '../app/context.ts'
import { hasOwnSignIn } from '../app/own-sign-in.ts'
import { hrefOf } from '../app/route.ts'
import { lazy } from '../parts/lazy.tsx'
import { SettingsPane } from '../parts/settings-pane.tsx'
import { accountTexts } from '../texts/settings.ts'
import { Apps } from './apps.tsx'
import { Identities } from './identities.tsx'
import { Keys } from './keys.tsx'
import { PasswordForm } from './password-form.tsx'
import { Preferences } from './preferences.tsx'
import { Profile } from './profile.tsx'
import { Sessions } from './sessions.tsx'

const Bots = lazy(() => import('./bots.tsx').then(({ Bots }) => Bots))
const Usage = lazy(() => import('./usage.tsx').then(({ Usage }) => Usage))
const Webhooks = lazy(() => import('./webhooks.tsx').then(({ Webhooks }) => Webhooks))

interface AccountPaneProps {
  tab: string
  /** The bot or the webhook that is shown of them. */
  id: string | undefined
  user: User
}

/** The account of the user: of one that another application signs in, what is kept here. */
export function AccountPane({ tab, id, user }: AccountPaneProps) {
  const app = useApp()
  const { title, tabs } = accountTexts.value
  const isOwn = hasOwnSignIn(app)
  const isPerson = user.kind === undefined
  const names = [
    'profile' as const,
    ...(isOwn ? (['security', 'keys'] as const) : []),
    ...(app.features.mcp && isPerson ? (['apps'] as const) : []),
    ...(app.features.bots && isPerson ? (['bots'] as const) : []),
    ...(app.features.webhooks && isPerson ? (['webhooks'] as const) : []),
    ...(app.features.assistant ? (['usage'] as const) : []),
    'preferences' as const,
  ]
  const current = names.find((name) => name === tab) ?? 'profile'
  return (
    <SettingsPane
      title={title}
      tabs={names.map((name) => [name, tabs[name], hrefOf({ name: 'account', tab: name })])}
      current={current}
      item={id}
    >
      {current === 'profile' && <Profile user={user} />}
      {current === 'security' && (
        <>
          <PasswordForm user={user} />
          <Sessions />
          <Identities />
        </>
      )}
      {current === 'keys' && <Keys />}
      {current === 'apps' && app.features.mcp && <Apps url={app.features.mcp.url} />}
      {current === 'bots' && <Bots id={id} />}
      {current === 'webhooks' && <Webhooks id={id} user={user} />}
      {current === 'usage' && <Usage />}
      {current === 'preferences' && <Preferences />}
    </SettingsPane>
  )
}
