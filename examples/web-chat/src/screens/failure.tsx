import type { Brand } from '../app/config.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { texts } from '../texts/texts.ts'
import { Card } from './card.tsx'

/** The page could not begin. */
export function Failure({ error, brand, onRetry }: { error: unknown; brand: Brand; onRetry: () => void }) {
  return (
    <Card brand={brand} title={brand.name}>
      <ErrorNote error={error} />
      <button type="button" class="primary" onClick={onRetry}>
        {texts.value.retry}
      </button>
    </Card>
  )
}
