# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Where everything goes. systemd looks for units, users and presets below the prefix's own lib/, not below the
# multiarch folder; what an administrator edits is in /etc, whatever the prefix.
foreach(binary homenoded homenode)
        if(TARGET ${binary})
                set(dir_homenoded ${CMAKE_INSTALL_SBINDIR})
                set(dir_homenode ${CMAKE_INSTALL_BINDIR})
                install(TARGETS ${binary} RUNTIME DESTINATION ${dir_${binary}})
        endif()
endforeach()

# Not on PATH, where it would stand in numad's way: linking to it is up to the administrator.
if(TARGET homenode-numad)
        install(TARGETS homenode-numad RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/homenode)
endif()

if(TARGET homenode-shared)
        install(TARGETS homenode-shared homenode-static
                LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
                ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
                PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
        configure_file(cmake/libhomenode.pc.in libhomenode.pc @ONLY)
        install(FILES ${PROJECT_BINARY_DIR}/libhomenode.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

configure_file(systemd/homenoded.service.in systemd/homenoded.service @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/systemd/homenoded.service DESTINATION lib/systemd/system)
install(FILES systemd/80-homenode.preset DESTINATION lib/systemd/system-preset)
install(FILES systemd/homenode.sysusers DESTINATION lib/sysusers.d RENAME homenode.conf)
install(FILES systemd/homenode.tmpfiles DESTINATION lib/tmpfiles.d RENAME homenode.conf)
install(FILES conf/homenode.catalog DESTINATION lib/systemd/catalog)

# The bus: who may own the name, what starts the daemon, and what polkit is asked. All of it is the package's: an
# administrator's own policy goes to /etc/dbus-1/system.d and /etc/polkit-1/rules.d.
install(FILES conf/org.homenode1.conf DESTINATION ${CMAKE_INSTALL_DATADIR}/dbus-1/system.d)
install(FILES systemd/org.homenode1.service DESTINATION ${CMAKE_INSTALL_DATADIR}/dbus-1/system-services)
install(FILES conf/org.homenode1.policy DESTINATION ${CMAKE_INSTALL_DATADIR}/polkit-1/actions)

# The administrator's file: installing again must not undo what was written there. The packaged text is always
# beside the documentation.
install(FILES conf/homenode.conf DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(CODE "
        if(NOT EXISTS \"\$ENV{DESTDIR}${CMAKE_INSTALL_FULL_SYSCONFDIR}/homenode/homenode.conf\")
                file(INSTALL \"${PROJECT_SOURCE_DIR}/conf/homenode.conf\"
                        DESTINATION \"${CMAKE_INSTALL_FULL_SYSCONFDIR}/homenode\")
        endif()")
install(DIRECTORY DESTINATION ${CMAKE_INSTALL_FULL_SYSCONFDIR}/homenode/homenode.conf.d)

# Debian's zsh looks for completions of packages in a folder of its own.
if(EXISTS /etc/debian_version)
        set(zsh vendor-completions)
else()
        set(zsh site-functions)
endif()
set(HN_ZSH_COMPLETIONS ${CMAKE_INSTALL_DATADIR}/zsh/${zsh} CACHE STRING "Where the completion for zsh is installed")
install(FILES conf/completions/homenode.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME homenode)
install(FILES conf/completions/_homenode DESTINATION ${HN_ZSH_COMPLETIONS})

foreach(section 1 3 5 7 8)
        file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.${section})
        if(pages)
                install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
        endif()
endforeach()
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
