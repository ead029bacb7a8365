import { currentLogin, PEOPLE } from '../../lib/login'
import { Messages } from './messages'

export default async function Page() {
  const { person_id } = await currentLogin()
  const person = PEOPLE.find(({ id }) => id === person_id)
  if (!person) return <p>Sign in first.</p>
  return (
    <main>
      <h1>Messages of {person.username}</h1>
      <Messages />
    </main>
  )
}
