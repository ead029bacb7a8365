import { shownProfile } from './shown-profile.ts'

interface AuthorNameProps {
  name: string
  /** Of a person; without one, there is no card. */
  user_id: string | undefined
  conversation_id: string
}

/** The name of an author, which opens the card of a person. */
export function AuthorName({ name, user_id, conversation_id }: AuthorNameProps) {
  return (
    <strong class="name" dir="auto">
      {user_id === undefined ? (
        name
      ) : (
        <button
          type="button"
          class="author"
          aria-haspopup="dialog"
          tabIndex={-1}
          onClick={() => {
            shownProfile.value = { user_id, conversation_id }
          }}
        >
          {name}
        </button>
      )}
    </strong>
  )
}

/** Opens the card of the author whose photo is clicked. Keys have the menu of the message for that. */
export function openByPointer(event: MouseEvent): void {
  if (!(event.target instanceof Element)) return
  const article = event.currentTarget as Element
  if (event.target.closest('.avatar')) article.querySelector<HTMLElement>(':scope > header .author')?.click()
}
