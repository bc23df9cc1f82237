import '@fontsource-variable/inter/wght.css'
import '../ui/tokens.css'
import '../ui/base.css'
import './styles.ts'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import { keepFocus } from './keep-focus.ts'
import { queries } from './queries.ts'
import { router } from './router.tsx'
import { applyTheme } from './theme.ts'

applyTheme()
keepFocus()
const place = document.getElementById('workspace')
if (place) {
  createRoot(place).render(
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  )
}
