import { OPERATOR } from 'chat-server'
import { getChat } from '../../lib/chat'
import { currentLogin, PEOPLE } from '../../lib/login'
import { Messages } from './messages'

export default async function Page() {
  const { person_id } = await currentLogin()
  const person = PEOPLE.find(({ id }) => id === person_id)
  if (!person) return <p>Sign in first.</p>
  const { chat } = await getChat()
  await chat.users.ensure(OPERATOR, { subject: person.id, username: person.username })
  const initial = await chat.snapshots.create(await chat.users.actorOf(person.id))
  return (
    <main>
      <h1>Messages of {person.username}</h1>
      <Messages initial={initial} />
    </main>
  )
}
