import type { User } from 'chat-server/client'
import { useApp } from '../app/context.ts'
import { hasOwnSignIn } from '../app/own-sign-in.ts'
import { hrefOf } from '../app/route.ts'
import { SettingsPane } from '../parts/settings-pane.tsx'
import { accountTexts } from '../texts/settings.ts'
import { Identities } from './identities.tsx'
import { Keys } from './keys.tsx'
import { PasswordForm } from './password-form.tsx'
import { Preferences } from './preferences.tsx'
import { Profile } from './profile.tsx'
import { Sessions } from './sessions.tsx'

/** The account of the user: of one that another application signs in, what is kept here. */
export function AccountPane({ tab, user }: { tab: string; user: User }) {
  const { title, tabs } = accountTexts.value
  const names = hasOwnSignIn(useApp())
    ? (['profile', 'security', 'keys', 'preferences'] as const)
    : (['profile', 'preferences'] as const)
  const current = names.find((name) => name === tab) ?? 'profile'
  return (
    <SettingsPane
      title={title}
      tabs={names.map((name) => [name, tabs[name], hrefOf({ name: 'account', tab: name })])}
      current={current}
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
      {current === 'preferences' && <Preferences />}
    </SettingsPane>
  )
}
