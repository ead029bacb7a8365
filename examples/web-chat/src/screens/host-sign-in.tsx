import { useApp } from '../app/context.ts'
import { entryTexts } from '../texts/entry.ts'
import { Card } from './card.tsx'

/** The application around the service signs in: the page has a link there. */
export function HostSignIn() {
  const { brand } = useApp()
  const { signIn } = entryTexts.value
  return (
    <Card brand={brand} title={signIn.title(brand.name)}>
      <p>{signIn.host}</p>
      {brand.sign_in_url && (
        <a class="button primary" href={brand.sign_in_url}>
          {signIn.button}
        </a>
      )}
    </Card>
  )
}
