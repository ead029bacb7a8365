import type { Brand } from './app/config.ts'
import { AppContext, useApp } from './app/context.ts'
import type { Start } from './app/start.ts'
import { lazy } from './parts/lazy.tsx'
import { Chat } from './screens/chat.tsx'
import { Failure } from './screens/failure.tsx'
import { texts } from './texts/texts.ts'

const HostSignIn = lazy(() => import('./screens/host-sign-in.tsx').then(({ HostSignIn }) => HostSignIn))
const Join = lazy(() => import('./screens/join.tsx').then(({ Join }) => Join))
const Mailed = lazy(() => import('./screens/mailed.tsx').then(({ Mailed }) => Mailed))
const SetUp = lazy(() => import('./screens/set-up.tsx').then(({ SetUp }) => SetUp))
const SignIn = lazy(() => import('./screens/sign-in.tsx').then(({ SignIn }) => SignIn))

/** What is shown before the service is known: the name, as in the HTML of the page; then that it takes its time, or fails. */
export function Root({ start, brand }: { start: Start; brand: Brand }) {
  const state = start.state.value
  if (state.at === 'failed') return <Failure error={state.error} onRetry={start.begin} brand={brand} />
  if (state.at === 'starting')
    return (
      <div class="starting">
        <p>{brand.name}</p>
        <p class="patience" role="status">
          {texts.value.starting}
        </p>
      </div>
    )
  return (
    <AppContext.Provider value={state.app}>
      <Screen />
    </AppContext.Provider>
  )
}

function Screen() {
  const { session, route, brand, features } = useApp()
  const { value: at } = route
  if ('token' in at)
    return at.name === 'join' || at.name === 'welcome' ? (
      <Join key={at.token} token={at.token} />
    ) : (
      <Mailed key={at.token} name={at.name} token={at.token} />
    )
  if (session.user.value) return <Chat user={session.user.value} />
  if (!features.sign_in || brand.sign_in_url !== undefined) return <HostSignIn />
  return session.isSetUp.value ? <SignIn /> : <SetUp />
}
